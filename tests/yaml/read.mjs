// Reads the replies back with js-yaml, the current major version and the one before: read.mjs CASES REPLIES.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";

const require = createRequire(new URL("../../target/tools/npm/package.json", import.meta.url));
const [cases, replies] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")));

function problem(yaml, pair, reply) {
  try {
    const mapping = yaml.load(reply);
    if (Object.keys(mapping).join() !== "exit_code,stdout,stderr") return `keys are ${Object.keys(mapping)}`;
    if (!Number.isInteger(mapping.exit_code)) return "exit_code is not an integer";
    return isDeepStrictEqual([mapping.stdout, mapping.stderr], pair) ? undefined : "another text came back";
  } catch (error) {
    return error.message;
  }
}

/** Whether any differs; the first few are shown. */
function read(name, yaml) {
  let failed = Math.abs(cases.length - replies.length);
  cases.forEach((pair, index) => {
    const found = problem(yaml, pair, replies[index] ?? "");
    if (found && ++failed <= 5) {
      const [text, shown] = [pair, replies[index]].map((value) => JSON.stringify(value)?.slice(0, 300));
      console.log(`FAIL  ${name}: ${found}: ${text} as ${shown}`);
    }
  });
  const verdict = failed ? `FAIL  ${name}: ${failed} of ${cases.length} replies` : `ok    ${name} reads ${cases.length} replies back`;
  console.log(verdict);
  return failed > 0;
}

const names = ["js-yaml", "js-yaml-4"];
const failed = names.filter((name) => read(name, require(name))).length;
console.log(`js-yaml: ${names.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
