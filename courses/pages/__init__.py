"""The reading pages: views, queries, and the caches behind them."""
