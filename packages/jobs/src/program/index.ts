export { createPinReader, type Pins } from "./pins.ts";
export { default as programSchema } from "./program.schema.json" with { type: "json" };
