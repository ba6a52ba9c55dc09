/** What scripts add to the page of owners: the code of a link is sent, and leaves the address. */
import "./console.ts";

const code = location.hash.slice(1);
if (/^sol_[0-9A-Za-z]+$/.test(code)) {
  history.replaceState(null, "", location.pathname);
  const form = document.createElement("form");
  form.method = "post";
  form.action = "/owner";
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = "code";
  field.value = code;
  form.append(field);
  document.body.append(form);
  form.submit();
}
