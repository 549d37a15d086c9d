// Types of the files of undici that `dial.ts` imports by their paths. The index of undici has the same values, and types for them.
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}
declare module "undici/lib/dispatcher/client.js" {
  export { Client as default } from "undici";
}
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
declare module "undici/lib/dispatcher/dispatcher.js" {
  export { Dispatcher as default } from "undici";
}
declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}
declare module "undici/lib/api/index.js" {
  const methods: Pick<import("undici").Dispatcher, "request" | "stream" | "pipeline" | "upgrade" | "connect">;
  export default methods;
}
