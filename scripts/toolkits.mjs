// Writes toolkits/checked.json: that the definitions which the service ships with have no fault, so that no start has to find it
// out again. Needs the project's own Node: `npm run toolkits`.
import { writeFileSync } from "node:fs";
import { checkedFile, checkShippedToolkits } from "../packages/catalog/src/checked-toolkits.ts";

writeFileSync(checkedFile, await checkShippedToolkits());
