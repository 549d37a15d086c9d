import type { McpMethod, McpOffer } from "@svc/tools";
import type { Asked } from "./input-tools.ts";
import { getPrompt, listedPrompts } from "./prompts.ts";
import { listedResources, listedTemplates, readResource } from "./resources.ts";
import { type Called, type RunProgram, taskTools } from "./task-tools.ts";
import { findTool, listedTools } from "./tools.ts";

const always = (result: Readonly<Record<string, unknown>>): McpMethod["answer"] => {
  return async () => ({ type: "complete", result });
};

/**
 * Adds everything that the official conformance suite needs to the offer of a node. svc itself has no prompts or completions. The
 * suite's resources take the place of svc's skills.
 */
export function withProfile(own: readonly McpOffer[]): readonly McpOffer[] {
  return [...own.map(withTools), profile, olderProfile];
}

/** Adds the suite's tools to an offer. */
function withTools(offer: McpOffer): McpOffer {
  const { "tools/list": list, "tools/call": call } = offer.methods;
  if (list === undefined || call === undefined) return offer;
  const methods: Record<string, McpMethod> = {
    ...offer.methods,
    "tools/list": {
      ...list,
      async answer(params, context) {
        const listed = await list.answer(params, context);
        if (listed.type !== "complete") return listed;
        const tools = [...(listed.result["tools"] as object[]), ...listedTools];
        return { ...listed, result: { ...listed.result, tools } };
      },
    },
    "tools/call": {
      ...call,
      async answer(params, context) {
        const run: RunProgram = (args, asking) => {
          const address = { ...asking.address, tools: ["run_program"] };
          return call.answer({ name: "run_program", arguments: args }, { ...asking, address });
        };
        const task = taskTools[String(params["name"])];
        if (task !== undefined) return task(params as Called, context, run);
        return findTool(params["name"])?.(params as Asked, context) ?? call.answer(params, context);
      },
    },
  };
  return { ...offer, methods };
}

const profile: McpOffer = {
  capabilities: { prompts: {}, resources: {}, completions: {} },
  methods: {
    "prompts/list": { isCacheable: true, answer: always({ prompts: listedPrompts }) },
    "prompts/get": { nameIn: "name", answer: async (params, context) => getPrompt(params as Asked, context) },
    "resources/list": { isCacheable: true, answer: always({ resources: listedResources }) },
    "resources/templates/list": { isCacheable: true, answer: always({ resourceTemplates: listedTemplates }) },
    "resources/read": { nameIn: "uri", isCacheable: true, answer: async ({ uri }) => readResource(uri) },
    "completion/complete": { answer: always({ completion: { values: ["test"], total: 1, hasMore: false } }) },
  },
};

/** Parts that the newer protocol revision no longer has. */
const olderProfile: McpOffer = {
  revisions: ["2025-11-25"],
  capabilities: { logging: {}, resources: { subscribe: true } },
  methods: {
    "logging/setLevel": { answer: always({}) },
    "resources/subscribe": { answer: always({}) },
    "resources/unsubscribe": { answer: always({}) },
  },
};
