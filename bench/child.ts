import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** Commands that a child process answers, one function for each. Arguments and results are sent as JSON. */
export type Commands = Readonly<Record<string, (argument: never) => unknown>>;

type Request = { readonly number: number; readonly command: string; readonly argument: unknown };
type Reply = { readonly number: number; readonly result?: unknown; readonly error?: string };

/** A running child process, and a function that sends it commands. */
export type Child<C extends Commands> = {
  readonly pid: number;
  /** Runs one command in the child. Rejects with the child's error, or when the child ends before it answers. */
  ask<K extends keyof C & string>(command: K, argument: Parameters<C[K]>[0]): Promise<Awaited<ReturnType<C[K]>>>;
  /** Asks the child to end, and kills it if it has not ended after 5 seconds. */
  stop(): Promise<void>;
};

/** Starts `file` as a new process. Returns at once; the first `ask` waits until the process is ready. */
export function startChild<C extends Commands>(file: URL, nodeOptions: readonly string[] = []): Child<C> {
  const child = fork(file, { execArgv: [...nodeOptions], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(reason: Error): void }>();
  let numbers = 0;
  child.on("message", (message) => {
    const reply = message as Reply;
    const waiter = waiting.get(reply.number);
    waiting.delete(reply.number);
    if (reply.error === undefined) waiter?.resolve(reply.result);
    else waiter?.reject(new Error(reply.error));
  });
  child.on("exit", (code, signal) => {
    const ended = new Error(`${file.pathname} ended with ${signal ?? `exit status ${code}`}`);
    for (const waiter of waiting.values()) waiter.reject(ended);
    waiting.clear();
  });
  return {
    pid: child.pid ?? 0,
    ask: (command, argument) =>
      new Promise((resolve, reject) => {
        numbers += 1;
        waiting.set(numbers, { resolve: resolve as (value: unknown) => void, reject });
        child.send({ number: numbers, command, argument: argument ?? null } satisfies Request, (error) => {
          if (error) reject(error);
        });
      }),
    stop: () => stopProcess(child, () => child.disconnect()),
  };
}

/** Ends a process by `ask`, which requests the process to shut down. Kills it if that has not worked after 5 seconds. */
export async function stopProcess(child: ChildProcess, ask: () => void, patienceMs = 5_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  ask();
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  await ended;
  clearTimeout(timer);
}

/**
 * Runs in the child: answers commands until the parent disconnects, then runs `close` and exits. A parent that dies disconnects too, so no
 * child outlives a run.
 */
export function answerCommands<C extends Commands>(commands: C, close: () => Promise<void> | void = () => {}): void {
  process.on("message", async (message) => {
    const { number, command, argument } = message as Request;
    const reply = await answer(commands, command, argument);
    process.send?.({ number, ...reply } satisfies Reply);
  });
  process.on("disconnect", async () => {
    await close();
    process.exit(0);
  });
  // Ctrl-C reaches the whole process group, but the parent decides when its children end.
  process.on("SIGINT", () => {});
}

async function answer(commands: Commands, command: string, argument: unknown): Promise<Omit<Reply, "number">> {
  try {
    const run = commands[command];
    if (run === undefined) return { error: `unknown command ${command}` };
    return { result: await run(argument as never) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
