import { type PreviewedRequest, type PreviewSubscriptionResponse, TriggersService } from "@svc/gen/triggers";
import { call } from "../command/topic.ts";
import { numberText, plainText } from "../text/plain.ts";
import { factLines, timeText } from "../text/table.ts";
import { formatOf, formatOptions, maskOf, matchOf, matchOptions } from "./subscription-parts.ts";

/** The command `svc subscriptions preview`, which tries a subscription's filter and body format on past events and sends nothing. */
export const addSubscriptionPreview = call(TriggersService.method.previewSubscription, {
  says: "try a filter and a form on past events: how many would match, and what would be sent",
  takes: { "[id]": "id of a subscription whose settings count unless options replace them (default: none)" },
  options: [
    ["--toolkit <slug>", "only events of this toolkit (default: all)", { fills: "toolkitSlug" }],
    ["--trigger <slug>", "only events of this trigger (default: all)", { fills: "triggerSlug" }],
    ["--entity <id>", "only events of this entity", { fills: "entityId" }],
    ...matchOptions,
    ...formatOptions,
  ],
  request: ({ values }) => {
    const { toolkit = "", trigger = "" } = values;
    const [toolkitSlug = ""] = String(trigger).split(".", 1);
    const match = matchOf(values);
    const format = formatOf(values);
    return {
      ...(match && { match }),
      ...(format && { format }),
      updateMask: maskOf(values),
      ...(toolkit === "" && String(trigger).includes(".") && { toolkitSlug }),
    };
  },
  json: "the counts and the requests as JSON",
  shows: (preview) => [...factLines(countsOf(preview)), ...preview.requests.flatMap(requestLines)],
  examples: [
    "svc subscriptions preview --toolkit events --filter 'event.payload.amount > 1000'",
    "svc subscriptions preview sub_01h455vb4pex5vsknk084sn02q --form cloudevents",
  ],
});

function countsOf(preview: PreviewSubscriptionResponse): readonly (readonly [string, string])[] {
  const { scanned, matched, faulty, fault, faultEventId, since } = preview;
  return [
    ["scanned", since === undefined ? "no events" : `${numberText(scanned)} events since ${timeText(since)}`],
    ["matched", numberText(matched)],
    ["without a value", faulty === 0 ? "" : `${numberText(faulty)}; ${faultEventId} ${plainText(fault)}`],
  ];
}

function requestLines({ eventId, headers, body, error }: PreviewedRequest): string[] {
  if (error !== "") return ["", eventId, plainText(error)];
  const lines = headers.map(({ name, value }) => `${plainText(name)}: ${plainText(value)}`);
  return ["", eventId, ...lines, "", plainText(body)];
}
