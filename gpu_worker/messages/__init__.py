"""What travels between the site and the workers: messages, signatures, queues and transport."""
