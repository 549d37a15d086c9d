export { restoreStore } from "@svc/db";
export { backUp } from "./back-up.ts";
