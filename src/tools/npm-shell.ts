/** The process that started this one: npm's shell, if npm runs a script. `run.js` imports this first, while that shell is still there. */
export const NPM_SHELL_PID = process.ppid;
