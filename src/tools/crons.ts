/** Runs the crons of wrangler.toml under `npm start`, because wrangler runs none on this machine. */

const MINUTE_MS = 60_000;

/** The crons run each minute or in one minute of each hour: the other fields are `*`. */
export function dueCrons(crons: readonly string[], nowMs: number): string[] {
  const minute = String(new Date(nowMs).getUTCMinutes());
  return crons.filter((cron) => ["*", minute].includes(cron.split(" ", 1).join()));
}

/** Begins with the next minute, and goes on until the process ends. */
export function runCrons(baseUrl: string, crons: readonly string[]): void {
  const runDue = () => {
    for (const cron of dueCrons(crons, Date.now())) void run(baseUrl, cron);
    wait();
  };
  // A timer may fire a little too early, and would then fire twice.
  const wait = () => setTimeout(runDue, MINUTE_MS - (Date.now() % MINUTE_MS) + 100).unref();
  wait();
}

/** The Worker logs its own failures. The `scheduled` of wrangler's `startWorker` does not find the Worker. */
async function run(baseUrl: string, cron: string): Promise<void> {
  try {
    await fetch(`${baseUrl}/cdn-cgi/local/scheduled?${new URLSearchParams({ cron })}`);
  } catch {
    console.error(`The cron ${cron} did not reach the service.`);
  }
}
