import { JobsService } from "@svc/gen/jobs";
import { call, list, topic } from "../command/topic.ts";
import { plainText } from "../text/plain.ts";
import { factLines } from "../text/table.ts";

const { listAskEndpoints, createAskEndpoint, deleteAskEndpoint } = JobsService.method;

/** `svc ask-endpoints create|list|delete`. */
export const addAskEndpointsCommand = topic({
  says: "create, list and delete endpoints that every question of the project is published to; for an approver",
  examples: ["svc ask-endpoints", "svc ask-endpoints create https://hooks.example.com/asks"],
  commands: {
    create: call(createAskEndpoint, {
      says: "publish every question to an endpoint, and print the id and the secret that signs what it is sent",
      takes: {
        "<url>": [
          "endpoint that questions are posted to; https, unless its host is loopback",
          { fills: "endpointUrl" },
        ],
      },
      options: [
        [
          "--event-type <type...>",
          "what is posted: ask_raised, standing_paused, standing_missed, standing_budget, standing_start_failed",
          { default: [] },
        ],
      ],
      request: ({ values: { eventType } }) => ({ eventTypes: eventType as string[] }),
      json: "the endpoint and its secret as JSON",
      shows: ({ askEndpoint, signingSecret }) =>
        factLines([
          ["ask endpoint", askEndpoint?.id ?? ""],
          ["signing secret", signingSecret],
        ]),
      notes: () => "Keep the secret: it is not shown again.",
      examples: [
        "svc ask-endpoints create https://hooks.example.com/asks",
        "svc ask-endpoints create https://hooks.example.com/ops --event-type standing_paused standing_missed",
      ],
    }),
    list: list(listAskEndpoints, {
      says: "list the project's ask endpoints, newest first",
      isDefault: true,
      rows: "askEndpoints",
      table: {
        ID: "id",
        STATE: ({ active, inactiveReason }) => (active ? "active" : inactiveReason),
        CREATED: "createdAt",
        ENDPOINT: "endpointUrl",
        TELLS: ({ eventTypes }) => (eventTypes.length === 0 ? "ask_raised" : eventTypes.map(plainText).join(", ")),
      },
      json: "the ask endpoints as a JSON list",
      examples: ["svc ask-endpoints list"],
    }),
    delete: call(deleteAskEndpoint, {
      says: "delete an ask endpoint and end its pending deliveries; the questions stay answerable",
      takes: { "<id>": "id of the ask endpoint, aep_…" },
      deleted: "id",
      json: "the id as JSON",
      shows: "{id} is deleted",
      examples: ["svc ask-endpoints delete aep_01h455vb4pex5vsknk084sn02q"],
    }),
  },
});
