import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { CatalogViews, CodeTool } from "@svc/catalog";
import { type AgentToolGroup, createSlices, isToolGranted, mayUseAgentTools, skillsToolkitSlug } from "@svc/core";
import { complete, type McpContext, type McpOffer, type McpOutcome, type Params, refused } from "../mcp/offer.ts";
import { invalidParams } from "../mcp/request.ts";
import { directName, isDirect } from "./direct-tools.ts";
import { callerOf } from "./meta-tools.ts";

/**
 * A guide of svc for agents, in the form of Agent Skills. `name`: lower case with hyphens. `description`: when an agent needs the guide.
 * `text`: the guide itself, as Markdown.
 */
export type AgentGuide = {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  /**
   * Group of svc's own tools that a guide for agents explains. Only callers that may use the group get the guide. Default: every caller.
   */
  readonly group?: AgentToolGroup | undefined;
};

/** Dependencies of the skills that svc offers over MCP. */
type SkillsOfferOptions = { readonly views: CatalogViews; readonly guides: readonly AgentGuide[] };

/** A skill in the form that clients read: one Markdown file, with its digest and its size in bytes. */
type AgentSkill = {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly text: string;
  readonly size: number;
  readonly digest: string;
};

/** Media type of the file of each skill. */
const mimeType = "text/markdown";
/**
 * Error code for an unknown resource in MCP revision 2025-11-25 and earlier. In the newer revision, the error for an unknown resource has
 * the code for invalid parameters.
 */
const resourceNotFoundCode = -32_002;

/**
 * Creates the skills that svc offers over MCP (extension `io.modelcontextprotocol/skills`): guides of svc, and the project's promoted
 * programs, which svc calls skills too. Each skill is one file, which clients read as a resource.
 */
export function createSkillsOffer(options: SkillsOfferOptions): McpOffer {
  const guides = options.guides.map((guide) => ({ guide, skill: skillOf("svc", guide) }));
  const skillsFor = async (context: McpContext) => {
    if (isDirect(context.address) && !namesSkills(context)) return [];
    const own = guides.filter(
      ({ guide }) => guide.group === undefined || mayUseAgentTools(context.principal, guide.group),
    );
    return [...own.map(({ skill }) => skill), ...(await programSkills(options, context))];
  };
  const find = async ({ uri }: Params, context: McpContext) =>
    (await skillsFor(context)).find((skill) => skill.uri === uri);
  return {
    capabilities: { resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } },
    methods: {
      "skills/list": {
        isCacheable: true,
        answer: async (_params, context) => complete({ skills: (await skillsFor(context)).map(entryOf) }),
      },
      "skills/get": {
        isCacheable: true,
        async answer(params, context) {
          const skill = await find(params, context);
          return skill === undefined ? skillUnknown(params) : complete({ skill: entryOf(skill) });
        },
      },
      "resources/list": {
        isCacheable: true,
        answer: async (_params, context) => complete({ resources: (await skillsFor(context)).map(resourceOf) }),
      },
      "resources/templates/list": { isCacheable: true, answer: async () => complete({ resourceTemplates: [] }) },
      "resources/read": {
        nameIn: "uri",
        isCacheable: true,
        async answer(params, context) {
          const skill = await find(params, context);
          if (skill === undefined) return resourceUnknown(params, context);
          return complete({ contents: [{ uri: skill.uri, mimeType, text: skill.text }] });
        },
      },
    },
  };
}

/** True if the client's MCP address (URL) names all skills of the project, or single ones. False otherwise. */
function namesSkills({ address: { toolkits, tools } }: McpContext): boolean {
  return toolkits.includes(skillsToolkitSlug) || tools.some((slug) => slug.startsWith(`${skillsToolkitSlug}.`));
}

/** Cache of the skills that svc offers to MCP clients, by promoted program. Undefined if the program's name cannot be a skill's name. */
const made = new WeakMap<CodeTool, AgentSkill | undefined>();

/**
 * Returns the project's promoted programs that the caller may call, in the form of skills. The function pauses between programs, so that a
 * long list does not block the event loop.
 */
async function programSkills({ views }: SkillsOfferOptions, context: McpContext): Promise<readonly AgentSkill[]> {
  const { principal, address } = context;
  const view = await views.forProject(principal.projectId);
  const slices = createSlices(() => setImmediate());
  const skills = new Map<string, AgentSkill>();
  for (const tool of view.tools.values()) {
    if (tool.kind !== "code" || !isToolGranted(principal.binding, tool)) continue;
    if (isDirect(address) && !address.toolkits.includes(skillsToolkitSlug) && !address.tools.includes(tool.slug))
      continue;
    if (!made.has(tool)) made.set(tool, skillOfProgram(tool));
    const skill = made.get(tool);
    // Two names that differ only in their underscores give the same skill. The first one is offered.
    if (skill !== undefined && !skills.has(skill.uri)) skills.set(skill.uri, skill);
    await slices.rest();
  }
  return [...skills.values()];
}

/** Pattern of names that the Agent Skills specification allows. */
const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const nameMax = 64;
const descriptionMax = 1_024;
/** Maximum length of an argument schema in the text of a skill, in characters. For a longer schema, the text names describe_tool. */
const schemaMax = 8_192;

function skillOfProgram({
  name,
  slug,
  class: accessClass,
  description,
  inputSchema,
}: CodeTool): AgentSkill | undefined {
  const skillName = name.replace(/_+/g, "-").replace(/-$/, "");
  if (skillName.length > nameMax || !namePattern.test(skillName)) return undefined;
  const schema = JSON.stringify(inputSchema);
  const confirm = accessClass === "destructive" ? ' Add `"confirm": true` to the arguments after the user agreed.' : "";
  const says =
    schema.length > schemaMax
      ? `Read its arguments with \`describe_tool\`.`
      : `Arguments (JSON Schema):\n\n${fence(schema)}`;
  const text = `${description.trim()}

Call the tool \`${slug}\` with \`${callerOf(accessClass)}\`, or the tool \`${directName(slug)}\` if it is listed. Its class is ${accessClass}.${confirm}

${says}`;
  return skillOf("project", { name: skillName, description: description.trim() || name, text });
}

function fence(text: string): string {
  return `~~~json\n${text}\n~~~`;
}

/** Returns a skill as a file with front matter. The description is written as JSON text, which is also YAML. */
function skillOf(owner: "svc" | "project", { name, description, text: body }: AgentGuide): AgentSkill {
  const shown = description.replace(/\s+/g, " ").slice(0, descriptionMax).toWellFormed();
  const text = `---\nname: ${name}\ndescription: ${JSON.stringify(shown)}\n---\n\n${body.toWellFormed()}\n`;
  const bytes = Buffer.from(text);
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return { uri: `skill://${owner}/${name}/SKILL.md`, name, description: shown, text, size: bytes.byteLength, digest };
}

function entryOf({ uri, name, description, size, digest }: AgentSkill): Params {
  return { uri, frontmatter: { name, description }, resources: [{ uri, digest, size }] };
}

function resourceOf({ uri, name, description, size }: AgentSkill): Params {
  return { uri, name, description, mimeType, size };
}

function skillUnknown({ uri }: Params): McpOutcome {
  return refused(invalidParams("There is no skill with this uri. skills/list names all", { uri }));
}

function resourceUnknown({ uri }: Params, { revision }: McpContext): McpOutcome {
  const error = invalidParams("There is no resource with this uri. resources/list names all", { uri });
  return refused(revision === "2025-11-25" ? { ...error, code: resourceNotFoundCode } : error);
}
