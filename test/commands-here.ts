import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { runCommand } from "@svc/cli";
import { openEnvironment } from "@svc/server/config";

let listening: Promise<number> | undefined;

/**
 * Returns a shell function that makes this process run `npx svc` with the shell's folder, variables and streams. A separate process would
 * take half a second for each command. `main`: the bundle for commands that open a database or run until they are interrupted.
 */
export async function npxHere(main: string): Promise<string> {
  listening ??= listen();
  return `npx() {
  if [ "$1" != svc ]; then command npx "$@"; return; fi
  shift
  case "$1" in serve|listen|watch|backup|restore) "${process.execPath}" "${main}" "$@"; return;; esac
  local here name line
  exec {here}<>/dev/tcp/127.0.0.1/${await listening}
  { printf '%s\\0' "$PWD" $# "$@"; for name in $(compgen -e); do printf '%s\\0' "$name=\${!name}"; done; printf '\\0'; } >&$here
  while IFS= read -r -u $here line; do
    case "$line" in
      1*) printf '%s\\n' "\${line:1}";;
      2*) printf '%s\\n' "\${line:1}" >&2;;
      input) { base64 -w0; printf '\\0'; } >&$here;;
      =*) exec {here}>&-; return "\${line:1}";;
    esac
  done
  return 70
}`;
}

/** Listens for commands of shells until the test worker ends. Returns the port. */
async function listen(): Promise<number> {
  const server = createServer((socket) => void serve(socket).catch(() => socket.destroy())).unref();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port is open");
  return address.port;
}

/**
 * Runs the command that a shell sends. The message contains the folder, the number of words, the words and the variables; each ends with a
 * zero byte.
 */
async function serve(socket: Socket): Promise<void> {
  const fields = fieldsOf(socket);
  const next = async () => (await fields.next()).value ?? "";
  const folder = await next();
  const count = Number(await next());
  const argv: string[] = [];
  while (argv.length < count) argv.push(await next());
  const variables: Record<string, string> = {};
  for (let field = await next(); field !== ""; field = await next()) {
    const at = field.indexOf("=");
    variables[field.slice(0, at)] = field.slice(at + 1);
  }
  const write = (mark: string) => (text: string) => void socket.write(text.replace(/^/gm, mark).concat("\n"));
  const closed = new AbortController();
  socket.once("close", () => closed.abort());
  const code = await inFolder(folder, () =>
    runCommand(argv, {
      environment: openEnvironment(variables),
      print: write("1"),
      note: write("2"),
      style: (_, text) => text,
      async readInput() {
        socket.write("input\n");
        return Buffer.from(await next(), "base64");
      },
      terminal: undefined,
      screen: undefined,
      untilInterrupted: () => closed.signal,
    }),
  );
  socket.end(`=${code}\n`);
}

async function* fieldsOf(socket: Socket): AsyncGenerator<string> {
  let rest = "";
  for await (const text of socket.setEncoding("utf8")) {
    const fields = `${rest}${text}`.split("\0");
    rest = fields.pop() ?? "";
    yield* fields;
  }
}

/** The folder in which commands currently run. File names are relative to the folder of the process. */
const home = process.cwd();
let folderInUse = "";
let running = 0;
let idle = Promise.withResolvers<void>();

/** Runs a command in a folder, after all commands in other folders have ended. */
async function inFolder<T>(folder: string, run: () => Promise<T>): Promise<T> {
  while (running > 0 && folderInUse !== folder) await idle.promise;
  if (running++ === 0) idle = Promise.withResolvers();
  folderInUse = folder;
  process.chdir(folder);
  try {
    return await run();
  } finally {
    if (--running === 0) {
      process.chdir(home);
      idle.resolve();
    }
  }
}
