// A service in miniature, for the tests that kill one: starts the store in argv[2], prints a line of JSON, then commits
// rows one at a time and prints each number once its commit is acknowledged. argv[3] "idle" leaves the rows out.
import { openDatabase } from "../connect.ts";
import { startEmbeddedPostgres } from "./postgres.ts";

const [dataDir = "", mode = "write"] = process.argv.slice(2);
try {
  const server = await startEmbeddedPostgres({ dataDir, durability: "full" });
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
  process.stdin.on("end", () => void server.stop().then(() => process.exit(0))).resume();
  if (mode === "write") await writeRows(server.url);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
  process.exit(1);
}

async function writeRows(url: string): Promise<void> {
  const { sql } = openDatabase({ url });
  await sql`create table if not exists written (n int4)`;
  for (let n = 1; ; n++) {
    await sql`insert into written values (${n})`;
    process.stdout.write(`${n}\n`);
  }
}
