// Writes toolkits/checked.json, which says that the shipped definitions have no faults, so that the server need not check them at each
// start. With --check, says if the file is up to date. Needs the project's own Node: `npm run toolkits`.
import { readFileSync, writeFileSync } from "node:fs";
import { checkedFile, checkShippedToolkits } from "../packages/catalog/src/read/checked-toolkits.ts";

const checked = await checkShippedToolkits();
if (!process.argv.includes("--check")) writeFileSync(checkedFile, checked);
else if (readFileSync(checkedFile, "utf8") !== checked) {
  process.stdout.write("toolkits/checked.json is of other definitions: `npm run toolkits` writes it anew\n");
  process.exitCode = 1;
}
