// Runs aimock's command line until standard input ends: `node aimock.mjs CLI [options]`.
//
// Standard input is a pipe from the test, so the server ends with the test, however the test ends.
import { pathToFileURL } from "node:url";

process.stdin.on("end", () => process.exit(0)).resume();
const [cli] = process.argv.splice(2, 1);
await import(pathToFileURL(cli).href);
