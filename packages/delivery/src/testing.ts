export { borrowTestDatabase, dropTestDatabases } from "./test-databases.ts";
export { type Answer, type ReceivedRequest, startTestReceiver, type TestReceiver } from "./test-receiver.ts";
export { until } from "./test-until.ts";
