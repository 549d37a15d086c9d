import { type PutEventTypeRequest, TriggersService } from "@svc/gen/triggers";
import { serveRoutes } from "@svc/testing/http";
import { expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

test("to archive a type, every other field is sent too, for a service that does not know the mask", async () => {
  const type = {
    name: "invoice.paid",
    description: "Paid.",
    schemaJson: '{"type":"object"}',
    sampleJson: "{}",
    offered: true,
  };
  const sent: PutEventTypeRequest[] = [];
  await using server = await serveRoutes((router) =>
    router.service(TriggersService, {
      getEventType: () => ({ eventType: type }),
      putEventType: (request) => {
        sent.push(request);
        return { eventType: { ...type, archived: true } };
      },
    }),
  );
  const variables = { SVC_URL: server.url, SVC_API_KEY: "svc_text" };
  expect(await runTestCommand(["event-types", "archive", "invoice.paid"], variables)).toMatchObject({ code: 0 });
  expect(sent).toMatchObject([{ ...type, archived: true, updateMask: ["archived"] }]);
});
