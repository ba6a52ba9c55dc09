npx swagger-typescript-api generate -n api.ts \
  -p http://localhost:8787/openapi.json -o generated/swagger-typescript-api

# const headers = { Authorization: `Bearer ${process.env.KEY}` }
# const { store } = new Api({ baseApiParams: { format: "json", headers } })
# store.listOrders(), store.cancelOrder(1)
