"""Every test runs as in a region with invented credentials; the models bind these table names at import."""

import os

os.environ.update(
    AWS_ACCESS_KEY_ID="testing",
    AWS_SECRET_ACCESS_KEY="testing",
    AWS_DEFAULT_REGION="eu-central-1",
    AWS_REGION="eu-central-1",
    SEARCHES_TABLE="searches",
    WATCHES_TABLE="watches",
    QUEUE_TABLE="notification_queue",
    DELIVERIES_TABLE="deliveries",
    DESTINATION_SECRETS="/lago/test/destinations",
    NOTIFY_FUNCTION="lago-notify",
    POWERTOOLS_SERVICE_NAME="lago-test",
    POWERTOOLS_METRICS_NAMESPACE="Lago",
)
for _name in ("AWS_PROFILE", "AWS_ENDPOINT_URL"):
    os.environ.pop(_name, None)
