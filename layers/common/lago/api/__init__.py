"""The routes of the Api function, one module a resource; each makes its router from what it works with."""
