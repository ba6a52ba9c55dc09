# hey-api needs TypeScript 5.
npx --package=typescript@5 --package=@hey-api/openapi-ts openapi-ts \
  -i http://localhost:8787/openapi.json -o generated/hey-api

# In client.gen: client.setConfig({ auth: process.env.KEY })
# In sdk.gen: listOrders(), cancelOrder({ path: { orderId: 1 } })
