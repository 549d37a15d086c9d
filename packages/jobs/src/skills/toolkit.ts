import { type CodeTool, createTenantValidators, type JsonSchema, type Toolkit, withConfirm } from "@svc/catalog";
import { type ProjectId, readJsonObject, skillsToolkitSlug } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type ListedSkill, skillsForProject } from "@svc/db/skills/repo";
import { readSkillName } from "@svc/program";

/** JSON Schema of what a call of a skill returns: the id of the job that was submitted to run the skill. */
const outputSchema: JsonSchema = {
  type: "object",
  additionalProperties: false,
  required: ["job_id"],
  properties: {
    job_id: { type: "string", description: "Id of the job that was submitted; GetJob and WatchJob read it." },
  },
};

/**
 * Returns the toolkit (svc's definition of one app) that contains a project's skills, for the project's catalog. Empty if the project has
 * no skills.
 */
export async function readSkillToolkits(db: Executor, projectId: ProjectId): Promise<readonly Toolkit[]> {
  const skills = await skillsForProject(db, projectId).list();
  return skills.length === 0 ? [] : [skillToolkit(projectId, skills)];
}

/** Maximum number of a project's skills, the newest first, whose titles help to find the tools that they call. */
const titledMax = 50;

/**
 * Returns the newest skills of a project (programs used as tools): for each, the words of its slug, its description, and the tools that it
 * calls. The search of tools uses these texts to find the called tools.
 */
export async function readTitledPrograms(
  db: Executor,
  projectId: ProjectId,
): Promise<{ readonly titles: readonly string[]; readonly toolSlugs: readonly string[] }[]> {
  const called = await skillsForProject(db, projectId).listCalled(titledMax);
  return called.map(({ slug, description, toolSlugs }) => {
    return { titles: [slug.replaceAll("_", " "), description], toolSlugs };
  });
}

/** Returns the tool of one version of a skill, `skills.<slug>@<version>`. Undefined if the project has no tool of that name. */
export async function findSkillTool(
  db: Executor,
  projectId: ProjectId,
  toolSlug: string,
): Promise<CodeTool | undefined> {
  const named = readSkillName(toolSlug);
  if (named === undefined || named.version === 0) return undefined;
  const versions = await skillsForProject(db, projectId).listVersions(named.slug);
  const found = versions.find(({ version }) => version === named.version);
  return found && { ...skillTool(projectId, found), slug: toolSlug };
}

/** Returns the slug of a skill's tool. With `version`, returns the slug of that version's tool. */
export function skillToolSlug(slug: string, version?: number): string {
  return `${skillsToolkitSlug}.${slug}${version === undefined ? "" : `@${version}`}`;
}

function skillToolkit(ownerProjectId: ProjectId, skills: readonly ListedSkill[]): Toolkit {
  return {
    slug: skillsToolkitSlug,
    ownerProjectId,
    originDigest: "",
    name: "Skills",
    description: "Job programs that this project promoted to tools. A call submits a job of the program.",
    version: "1.0.0",
    category: "developer-infrastructure",
    baseUrl: "",
    auth: [],
    account: [],
    always: { headers: none, query: none, body: none },
    identify: undefined,
    webhook: undefined,
    actions: [],
    triggers: [],
    rate: undefined,
    codeTools: skills.map((skill) => skillTool(ownerProjectId, skill)),
  };
}

const none = { kind: "object", entries: [] } as const;

const confirmProperty: JsonSchema = {
  type: "boolean",
  description: "True starts it; without it the call needs confirmation and does nothing.",
};

function skillTool(ownerProjectId: ProjectId, { slug, description, accessClass, inputSchema }: ListedSkill): CodeTool {
  const input = readJsonObject(inputSchema, "the input schema of a skill");
  const schema = accessClass === "destructive" ? withConfirm(input, confirmProperty) : input;
  return {
    kind: "code",
    slug: skillToolSlug(slug),
    name: slug,
    toolkitSlug: skillsToolkitSlug,
    ownerProjectId,
    class: accessClass,
    scopes: [],
    description,
    intents: [],
    callable: true,
    uncallableReason: "",
    inputSchema: schema,
    outputSchema,
    validateInput: createTenantValidators()(schema),
  };
}
