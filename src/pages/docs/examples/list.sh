curl -i -H "Authorization: Bearer $KEY" \
  http://localhost:8787/v1/store/orders
