import { Pool } from "undici";
import { answerCommands } from "./child.ts";
import { monotonicMicros } from "./monotonic.ts";

/** Options of one run of the loop. */
export type LoopOptions = {
  readonly origin: string;
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Number of requests under way. */
  readonly concurrency: number;
  readonly seconds: number;
};

/** The loop's commands. */
export const loopCommands = { run };

answerCommands(loopCommands);

/** Repeats the same request, like a program that keeps no records. Returns requests a second. */
async function run({ origin, concurrency, seconds, ...request }: LoopOptions): Promise<number> {
  const pool = new Pool(origin, { connections: concurrency, pipelining: 1 });
  const startedAt = monotonicMicros();
  const deadline = startedAt + seconds * 1e6;
  let answered = 0;
  const send = async () => {
    while (monotonicMicros() < deadline) {
      const { statusCode, body } = await pool.request({ ...request, body: request.body ?? null });
      await body.arrayBuffer();
      if (statusCode !== 200) throw new Error(`the provider answered ${statusCode}`);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, send));
  const endedAt = monotonicMicros();
  await pool.close();
  return (answered * 1e6) / (endedAt - startedAt);
}
