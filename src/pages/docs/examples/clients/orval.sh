# Without the setting baseUrl, orval calls paths without a host.
cat > orval.config.cjs << 'END'
module.exports = {
  orders: {
    input: "http://localhost:8787/openapi.json",
    output: {
      target: "generated/orval.ts",
      client: "fetch",
      baseUrl: { getBaseUrlFromSpecification: true },
    },
  },
};
END
npx orval --config orval.config.cjs

# const options = { headers: { Authorization: `Bearer ${process.env.KEY}` } }
# listOrders(options), cancelOrder(1, options)
