import type { ServiceImpl } from "@connectrpc/connect";
import { adminList, byId, formatValue, parseHttpHost, requireId } from "@svc/core";
import { isUniqueViolation } from "@svc/db/driver";
import {
  createFirstProject,
  createProject,
  findProject,
  findProjectByName,
  listProjects,
  setProjectPolicy,
} from "@svc/db/projects/repo";
import { planApprovals, type StoredPlanApproval } from "@svc/db/schema/words";
import type { AdminService, HttpPolicy } from "@svc/gen/admin";
import type { AdminContext } from "./context.ts";
import { projectMessage } from "./convert.ts";
import { adminFaults } from "./errors.ts";
import { readQuotas } from "./quotas.ts";
import { readConfirmPolicy, requireName } from "./request.ts";

const hostsMax = 100;

/**
 * Returns the hosts that a request lets a project's programs call, each once and in the form used for comparison. Returns undefined if the
 * request contains no policy for hosts, so that the project's hosts stay unchanged. Throws HTTP_HOST_INVALID.
 */
function readHttpHosts(sent: HttpPolicy | undefined): string[] | undefined {
  if (sent === undefined) return undefined;
  const { hosts } = sent;
  if (hosts.length > hostsMax) throw adminFaults.HTTP_HOST_INVALID("http.hosts", `has ${hosts.length} entries`);
  const read = hosts.map((text, index) => {
    const host = parseHttpHost(text);
    if (host === undefined)
      throw adminFaults.HTTP_HOST_INVALID(`http.hosts[${index}]`, `${formatValue(text)} is not a host alone`);
    return host;
  });
  return [...new Set(read)];
}

const redirectUrlsMax = 100;
const urlCharactersMax = 2_048;

/** Returns the methods of AdminService for projects. */
export function projectMethods({
  db,
  clock,
  sealer,
  cell,
  onQuotas,
  isOpenToProjects,
}: AdminContext): Pick<ServiceImpl<typeof AdminService>, "createProject" | "listProjects" | "setProjectPolicy"> {
  return {
    async createProject(request) {
      const name = requireName(request.name);
      const create = isOpenToProjects ? createProject : createFirstProject;
      const project = await create(db, name, clock.now(), cell).catch((error: unknown) => {
        throw isUniqueViolation(error, "projects_name") ? adminFaults.PROJECT_NAME_TAKEN(name) : error;
      });
      if (project === undefined) {
        throw (await findProjectByName(db, name)) === undefined
          ? adminFaults.AUDIENCE_UNDECLARED()
          : adminFaults.PROJECT_NAME_TAKEN(name);
      }
      return { project: projectMessage(project) };
    },
    listProjects: adminList(sealer, {
      call: "ListProjects",
      order: byId("prj"),
      rows: ({ page }) => listProjects(db, page),
      answer: (rows) => ({ projects: rows.map(projectMessage) }),
    }),
    async setProjectPolicy(request) {
      const id = requireId("prj", "projectId", request.projectId);
      const quotas = readQuotas(request.quotas);
      const httpHosts = readHttpHosts(request.http);
      const policy = {
        planApproval: requirePlanApproval(request.planApproval),
        redirectUrls: requireRedirectUrls(request.redirectUrls),
        ...(quotas && { quotas }),
        ...(httpHosts && { httpHosts }),
      };
      const project = await findProject(db, id);
      if (project === undefined) throw adminFaults.PROJECT_NOT_FOUND(id);
      const confirm = await readConfirmPolicy(db, id, request.confirm);
      const changed = { ...policy, ...(confirm && { confirm }) };
      await setProjectPolicy(db, id, changed);
      if (quotas !== undefined || confirm !== undefined) onQuotas(id);
      return { project: projectMessage({ ...project, ...changed }) };
    },
  };
}

function requirePlanApproval(text: string): StoredPlanApproval {
  if (text === "") return "never";
  const planApproval = planApprovals.find((known) => known === text);
  if (planApproval === undefined) throw adminFaults.PLAN_APPROVAL_INVALID(text);
  return planApproval;
}

function requireRedirectUrls(urls: readonly string[]): string[] {
  if (urls.length > redirectUrlsMax)
    throw adminFaults.REDIRECT_URL_INVALID("redirectUrls", `has ${urls.length} entries`);
  for (const [index, url] of urls.entries()) {
    const wrong = redirectUrlFault(url);
    if (wrong !== undefined) throw adminFaults.REDIRECT_URL_INVALID(`redirectUrls[${index}]`, wrong);
  }
  return [...urls];
}

function redirectUrlFault(text: string): string | undefined {
  if (text.length > urlCharactersMax) return `is longer than ${urlCharactersMax} characters`;
  const url = URL.parse(text);
  if (url === null) return "is not an absolute URL";
  if (url.username !== "" || url.password !== "") return "carries credentials";
  if (text.includes("#")) return "has a fragment";
  if (url.protocol === "https:") return undefined;
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url.protocol === "http:" && isLoopback ? undefined : "is neither https nor http to loopback";
}
