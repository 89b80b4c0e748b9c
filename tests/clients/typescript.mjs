// Drives the server with both official TypeScript clients: every era that they speak, over both transports.
import { HttpServer, PATIENCE, Place, RUNWARD, TABLE, Tally, judge, require, until } from "./harness.mjs";

const v1 = {
  ...require("@modelcontextprotocol/sdk/client/index.js"),
  ...require("@modelcontextprotocol/sdk/client/stdio.js"),
  ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
};
const v2 = { ...require("@modelcontextprotocol/client"), ...require("@modelcontextprotocol/client/stdio") };
const identity = { name: "smoke", version: "1" };

// Each line of clients: how to make one, and how it takes options with a call.
const CLIENTS = [
  { name: "sdk", eras: ["legacy"], kit: v1, make: () => new v1.Client(identity), call: (client, params, options) => client.callTool(params, undefined, options) },
  { name: "client", eras: ["legacy", "auto", { pin: "2026-07-28" }], kit: v2, make: (mode) => new v2.Client(identity, { versionNegotiation: { mode } }), call: (client, params, options) => client.callTool(params, options) },
];

/** One connected client, its place, and how to call a tool through it. */
class Run {
  constructor(line, client, place, check) {
    Object.assign(this, { line, client, place, check });
  }

  async call(name, args, options = {}) {
    const params = { name, arguments: args };
    const result = await this.line.call(this.client, params, { timeout: 3 * PATIENCE, ...options });
    return { isError: result.isError ?? false, text: result.content.map((block) => block.text).join("") };
  }

  command(command, options) {
    return this.call("execute_command", { command }, options);
  }

  async listing() {
    const names = (await this.client.listTools()).tools.map((tool) => tool.name);
    this.check("the tools are listed", TABLE.tools.every((name) => names.includes(name)), names);
  }

  async table() {
    for (const row of this.place.fill(TABLE.checks)) {
      const answer = this.call(row.tool, row.arguments).then((got) => judge(row, got));
      const problem = await answer.catch((error) => (row.protocol_error === error.code && error.code ? undefined : String(error)));
      this.check(row.name, !problem, problem);
    }
    this.check("nothing of the ended calls is left", await until(() => !this.place.alive("sleep").length));
  }

  async sideBySide() {
    const pipe = `${this.place.dir}/pipe`;
    await this.command(`mkfifo ${pipe}`);
    // Opening a pipe waits for the other end: one call cannot end before the other has begun.
    const answers = await Promise.all([this.command(`cat ${pipe}`), this.command(`echo met > ${pipe}`)]);
    this.check("two calls run side by side", answers[0].text.includes("met"), answers);
  }

  async heartbeat() {
    const pipe = `${this.place.dir}/pulse`;
    await this.command(`mkfifo ${pipe}`);
    const beats = [];
    const silent = this.command(`cat ${pipe}`, { onprogress: ({ progress }) => beats.push(progress) });
    await until(() => beats.length >= 2);
    await this.command(`echo on > ${pipe}`);
    await silent;
    const rising = beats.every((beat, index) => index === 0 || beat > beats[index - 1]);
    this.check("a silent command has a heartbeat", beats.length >= 2 && rising, beats);
  }

  async live() {
    const pipe = `${this.place.dir}/live`;
    await this.command(`mkfifo ${pipe}`);
    const heard = [];
    const onprogress = ({ message }) => heard.push(message);
    const running = this.call("shell", { command: `echo begun; cat ${pipe}` }, { onprogress });
    const told = await until(() => heard.some((message) => message.includes("begun")));
    this.check("output arrives while a shell command runs", told, heard);
    await this.command(`echo on > ${pipe}`);
    const answer = await running;
    this.check("a shell command ends with all of its output", answer.text.includes("begun\non\n"), answer);
  }

  async cancel() {
    const controller = new AbortController();
    const running = this.call("execute_process", this.place.tree(), { signal: controller.signal });
    const settled = running.catch(() => undefined);
    this.check("a tree of processes starts", await until(() => this.place.treeIsUp()), this.place.alive());
    controller.abort();
    await settled;
    this.check("cancelling ends the tree", await until(() => this.place.treeIsGone()), this.place.alive());
    const answer = await this.command("echo hello");
    this.check("the server answers after a cancel", answer.text.includes("hello"), answer);
  }

  async closeInFlight() {
    const left = this.call("execute_process", this.place.tree()).catch(() => undefined);
    this.check("a call is in flight at the end", await until(() => this.place.treeIsUp()), this.place.alive());
    await this.client.close();
    await left;
  }

  async all() {
    await this.listing();
    await this.table();
    await this.sideBySide();
    await this.heartbeat();
    await this.live();
    await this.cancel();
    await this.closeInFlight();
  }
}

async function run(line, transport, era, tally) {
  const label = `${line.name} ${transport} ${era.pin ?? era}`;
  const check = (name, ok, detail) => tally.check(`typescript ${label}: ${name}`, ok, detail);
  const place = new Place();
  const server = transport === "http" ? await HttpServer.start(place) : undefined;
  const client = line.make(era);
  const wire = server
    ? new line.kit.StreamableHTTPClientTransport(server.url)
    : new line.kit.StdioClientTransport({ command: RUNWARD, args: ["stdio"], env: place.env });
  try {
    await client.connect(wire);
    await new Run(line, client, place, check).all();
  } catch (error) {
    check("the client works to its end", false, String(error.stack ?? error));
    await client.close();
  }
  if (server) {
    const code = await server.stop();
    check("the server ends when asked", code === 0, code);
  }
  check("nobody is left", await until(() => !place.alive().length), place.alive());
  place.leave();
}

const tally = new Tally();
for (const line of CLIENTS) {
  for (const transport of ["stdio", "http"]) {
    for (const era of line.eras) await run(line, transport, era, tally);
  }
}
process.exit(tally.finish("typescript"));
