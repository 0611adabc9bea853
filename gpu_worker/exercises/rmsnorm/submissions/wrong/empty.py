# outcome: contract_error
