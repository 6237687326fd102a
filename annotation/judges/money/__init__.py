"""What judging costs: prices, a judge's account, the ledger of tries, its rules, and the provider's bill."""
