// Save it as list.mjs, and run it with: node list.mjs
const response = await fetch("http://localhost:8787/v1/store/orders", {
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});
console.log(response.status, await response.text());
console.log(response.headers.get("X-RateLimit-Remaining"), "requests remain");
