/** The console: the operator's pages at /console, a client of the admin API (ADR-23). */
import { render } from "preact";
import { LocationProvider } from "preact-iso";
import { App } from "./app.tsx";

const root = document.getElementById("app");
if (!root) throw new Error("console.html has no #app");
render(
  <LocationProvider scope="/console">
    <App />
  </LocationProvider>,
  root,
);
