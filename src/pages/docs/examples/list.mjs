// Save it as list.mjs, and run it with: node list.mjs
const key = (process.env.KEY ?? "").trim();
if (!/^\w+$/.test(key)) throw new Error("KEY is not an API key.");

const response = await fetch("http://localhost:8787/v1/store/orders", {
  headers: { Authorization: `Bearer ${key}` },
});
console.log(response.status, await response.text());
console.log(response.headers.get("X-RateLimit-Remaining"), "requests remain");
