"""DynamoDB, behind the words of the domain."""
