export { backUp, restore } from "./back-up.ts";
