// Writes toolkits/checked.json: that the definitions which the service ships with have no fault, so that no start has to find it
// out again. With --check it says whether the file is as it would be written. Needs the project's own Node: `npm run toolkits`.
import { readFileSync, writeFileSync } from "node:fs";
import { checkedFile, checkShippedToolkits } from "../packages/catalog/src/read/checked-toolkits.ts";

const checked = await checkShippedToolkits();
if (!process.argv.includes("--check")) writeFileSync(checkedFile, checked);
else if (readFileSync(checkedFile, "utf8") !== checked) {
  process.stdout.write("toolkits/checked.json is of other definitions: `npm run toolkits` writes it anew\n");
  process.exitCode = 1;
}
