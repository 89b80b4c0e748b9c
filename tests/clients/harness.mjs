// What every JavaScript smoke test shares: a place of its own, a server, a judge, a tally. Twin of harness.py.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const ROOT = join(import.meta.dirname, "../..");
// The packages live below target/, so they are found from there and not from this file.
export const require = createRequire(join(ROOT, "target/tools/npm/package.json"));
const yaml = require("js-yaml");
export const RUNWARD = process.env.RUNWARD_BIN ?? join(ROOT, "target/debug/runward");
export const TABLE = JSON.parse(readFileSync(join(import.meta.dirname, "checks.json"), "utf8"));
// A bound for hung waits, in milliseconds; nothing is expected to take this long.
export const PATIENCE = 20_000;

/** Polls until the condition holds; whether it did. */
export async function until(condition) {
  const deadline = Date.now() + PATIENCE;
  while (!condition()) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

let places = 0;

/** A directory, a configuration and a mark that tells this test's processes from all others. */
export class Place {
  constructor() {
    // Also a number of seconds, so that `sleep` takes it as its argument.
    this.mark = `3000.${String(process.pid).padStart(7, "0")}${String(++places).padStart(2, "0")}`;
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), `runward-${this.mark}-`)));
    const config = join(this.dir, "config.toml");
    const sandbox = `[sandbox]\nwritable_roots = ["${this.dir}"]\n`;
    writeFileSync(config, '[mcp]\nheartbeat = "1s"\n[shell_tool]\ninherit_also = ["SMOKE_MARK"]\n' + sandbox);
    this.env = { ALLOWED_COMMANDS: TABLE.allowed, RUNWARD_CONFIG: config, SMOKE_MARK: this.mark };
  }

  /** The processes (of this program) that carry the mark in their arguments or environment, zombies aside. */
  alive(program) {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && this.#isMarked(name, program));
  }

  #isMarked(pid, program) {
    try {
      const [line, environment] = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${pid}/${file}`, "latin1"));
      const carries = line.includes(this.mark) || environment.includes(this.mark);
      return carries && (!program || basename(line.split("\0")[0]) === program);
    } catch {
      return false;
    }
  }

  /** Arguments of a call that keeps three processes alive, one of them in a session of its own. */
  tree() {
    const script = "setsid sleep $1 & sleep $1 & wait";
    return { file: "bash", args: ["-c", script, "bash", this.mark], timeout_ms: 600000 };
  }

  treeIsUp() {
    return this.alive("sleep").length === 2;
  }

  treeIsGone() {
    return this.alive("sleep").length + this.alive("bash").length === 0;
  }

  /** The value with this place's directory and mark in it. */
  fill(value) {
    return JSON.parse(JSON.stringify(value).replaceAll("${DIR}", this.dir).replaceAll("${MARK}", this.mark));
  }

  leave() {
    for (const pid of this.alive()) process.kill(Number(pid), "SIGKILL");
    rmSync(this.dir, { recursive: true });
  }
}

/** `runward serve` on a free port. */
export class HttpServer {
  static async start(place) {
    const server = new HttpServer();
    const options = { env: { ...process.env, ...place.env }, stdio: ["ignore", "pipe", "inherit"] };
    server.process = spawn(RUNWARD, ["serve", "--bind", "127.0.0.1:0"], options);
    server.ended = new Promise((resolve) => server.process.once("exit", (code, signal) => resolve(code ?? signal)));
    for await (const line of createInterface(server.process.stdout)) {
      const address = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line);
      if (address) return Object.assign(server, { url: new URL(`${address[1]}/mcp`) });
    }
    throw new Error(`the server said no address and ended with ${await server.ended}`);
  }

  /** Asks it to end; its exit code. */
  async stop() {
    this.process.kill("SIGTERM");
    return Promise.race([this.ended, sleep(PATIENCE, "it did not end by itself", { ref: false })]);
  }
}

/** One line a check, one line at the end. */
export class Tally {
  passed = 0;
  failed = 0;

  check(label, ok, detail) {
    ok ? this.passed++ : this.failed++;
    console.log(ok ? `ok    ${label}` : `FAIL  ${label}: ${JSON.stringify(detail)?.slice(0, 2000)}`);
  }

  finish(name) {
    console.log(`${name}: ${this.passed} passed, ${this.failed} failed`);
    return this.failed || !this.passed ? 1 : 0;
  }
}

/** What is wrong with the answer, or undefined. */
export function judge(check, { isError, text }) {
  if (check.protocol_error) return `expected a protocol error, got ${text}`;
  if (isError !== (check.error ?? false)) return `isError is ${isError}: ${text}`;
  const absent = (check.contains ?? []).find((part) => !text.includes(part));
  if (absent) return `${absent} is not in ${text}`;
  if (!check.yaml) return undefined;
  const mapping = yaml.load(text);
  if (Object.keys(mapping).slice(0, 3).join() !== "exit_code,stdout,stderr") return `keys are ${Object.keys(mapping)}`;
  const wrong = Object.keys(check.yaml).find((key) => mapping[key] !== check.yaml[key]);
  return wrong && `${wrong} is not ${JSON.stringify(check.yaml[wrong])} in ${text}`;
}
