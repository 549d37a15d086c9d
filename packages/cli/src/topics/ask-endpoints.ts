import { JobsService } from "@svc/gen/jobs";
import { call, list, topic } from "../command/topic.ts";
import { plainText } from "../text/plain.ts";
import { factLines } from "../text/table.ts";

const { listAskEndpoints, createAskEndpoint, deleteAskEndpoint } = JobsService.method;

/** The commands `svc ask-endpoints create|list|delete`, for the endpoints to which svc posts every question of a job. */
export const addAskEndpointsCommand = topic({
  says: "create, list and delete endpoints that every question of the project is posted to; needs an approver's key",
  examples: ["svc ask-endpoints", "svc ask-endpoints create https://hooks.example.com/asks"],
  commands: {
    create: call(createAskEndpoint, {
      says: "post every question to an endpoint, and print its id and its signing secret",
      takes: {
        "<url>": [
          "endpoint that questions are posted to; must be https unless its host is loopback",
          { fills: "endpointUrl" },
        ],
      },
      options: [
        [
          "--event-type <type...>",
          "events to post: ask_raised, standing_paused, standing_missed, standing_budget, standing_start_failed",
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
      says: "delete an ask endpoint and end its pending deliveries; the questions can still be answered",
      takes: { "<id>": "id of the ask endpoint, aep_…" },
      deleted: "id",
      json: "the id as JSON",
      shows: "{id} is deleted",
      examples: ["svc ask-endpoints delete aep_01h455vb4pex5vsknk084sn02q"],
    }),
  },
});
