// A minimal service that tests can kill. It starts the database in the folder argv[2], and prints a JSON line with its URL or its error. In
// mode "write" (argv[3]) it then commits rows one at a time, and prints each number after its commit. In mode "idle" it only runs.
import { openDatabase } from "../connect.ts";
import { startEmbeddedPostgres } from "./postgres.ts";

const [dataDir = "", mode = "write"] = process.argv.slice(2);
try {
  const { url } = await startEmbeddedPostgres({ dataDir, durability: "full" });
  process.stdout.write(`${JSON.stringify({ url })}\n`);
  if (mode === "write") await writeRows(url);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
  process.exit(1);
}

async function writeRows(url: string): Promise<void> {
  const { sql } = openDatabase({ url });
  await sql`drop table if exists written`;
  await sql`create table written (n int4)`;
  for (let n = 1; ; n++) {
    await sql`insert into written values (${n})`;
    process.stdout.write(`${n}\n`);
  }
}
