import { agentToolGroups, call, defineFaults, field, formatValue, text } from "@svc/core";
import { deploymentSecretNames } from "@svc/node";

/** Errors that the methods of AdminService return. */
export const adminFaults = defineFaults({
  NAME_INVALID: {
    code: "invalid_argument",
    field: "name",
    says: (name: string, charactersMax: number) => `name ${formatValue(name)} ${nameFault(name, charactersMax)}`,
    help: (_name: string, charactersMax: number) =>
      `Send 1 to ${charactersMax} characters without control and format characters.`,
  },
  PROJECT_NAME_TAKEN: {
    code: "already_exists",
    field: "name",
    says: (name: string) => `a project named ${formatValue(name)} exists`,
    help: text`Choose another name, or find the project with ${call("ListProjects")}.`,
  },
  AUDIENCE_UNDECLARED: {
    code: "failed_precondition",
    says: "the deployment has a project and does not say which projects receive events: a new project would receive all events",
    help: "Set SVC_WEBHOOK_AUDIENCE to accounts or projects, or SVC_DEPLOYMENT to a deployment file, and start the service again.",
  },
  PROJECT_NOT_FOUND: {
    code: "not_found",
    field: "projectId",
    says: (projectId: string) => `there is no project ${formatValue(projectId)}`,
    help: text`${call("ListProjects")} returns the projects.`,
  },
  ROLE_INVALID: {
    code: "invalid_argument",
    field: "role",
    says: (name: string) => `role ${name} is not a role that a key can have`,
    help: "Send ROLE_VIEWER, ROLE_READER, ROLE_MEMBER or ROLE_APPROVER.",
  },
  PERSON_NOT_FOUND: {
    code: "not_found",
    field: (path: string) => path,
    says: (_path: string, id: string) => `there is no person ${formatValue(id)}`,
    help: text`${call("ListPeople")} returns the people who have signed in.`,
  },
  MAIL_INVALID: {
    code: "invalid_argument",
    field: "mail",
    says: (mail: string, domains: readonly string[]) =>
      `mail ${formatValue(mail)} is not a mail address${domains.length === 0 ? "" : ` of an allowed domain: ${domains.join(", ")}`}`,
    help: "Send the mail address of the company account, or leave it out.",
  },
  COMPANY_ACCOUNTS_OFF: {
    code: "failed_precondition",
    says: "the deployment has no identity provider, so people cannot sign in with company accounts",
    help: "Set SVC_OIDC_ISSUER and SVC_OIDC_CLIENT_ID, and start the service again. Or create a key.",
  },
  EXPIRES_AT_PAST: {
    code: "invalid_argument",
    field: "expiresAt",
    says: (expiresAt: string) => `expiresAt ${expiresAt} is not in the future`,
    help: "Send a later time, or leave it unset for a key that does not expire.",
  },
  API_KEY_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `there is no key ${formatValue(id)}`,
    help: text`${call("ListApiKeys")} returns the keys of a project.`,
  },
  PLAN_APPROVAL_INVALID: {
    code: "invalid_argument",
    field: "planApproval",
    says: (planApproval: string) => text`${field("planApproval")} ${formatValue(planApproval)} is not known`,
    help: "Send `never`, `destructive` or `always`; empty means `never`.",
  },
  QUOTA_INVALID: {
    code: "invalid_argument",
    field: (name: string) => `quotas.${name}`,
    says: (name: string, value: number) => `quotas.${name} ${formatValue(value)} is not a quota`,
    help: "Send a whole number of 1 or more, 0 for the default, or -1 for no limit.",
  },
  HTTP_HOST_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, message: string) => text`${field(path)} ${message}`,
    help: "Send at most 100 hosts, such as api.example.com or api.example.com:8443. Leave out the scheme, the path and wildcards; give a port only if it is not 443.",
  },
  CONFIRM_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, message: string) => text`${field(path)} ${message}`,
    help: text`Send person \`never\`, \`destructive\` or \`writes\`, and with the latter two the ${field("principalId")} of a contact that ${call("PutContact")} has created.`,
  },
  REDIRECT_URL_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, message: string) => text`${field(path)} ${message}`,
    help: "Send at most 100 absolute https URLs (http for loopback) of up to 2,048 characters, without credentials and fragment.",
  },
  ENTITY_ID_INVALID: {
    code: "invalid_argument",
    field: "entityId",
    says: (entityId: string) =>
      text`${field("entityId")} ${formatValue(entityId)} is longer than 200 characters or holds control characters`,
    help: "Send your own id of the user, 1 to 200 characters, or leave it empty.",
  },
  ERASURE_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `there is no erasure ${formatValue(id)}`,
    help: text`${call("EraseEntity")} and ${call("DeleteProject")} return the id of the erasure that they start.`,
  },
  AGENT_TOOLS_INVALID: {
    code: "invalid_argument",
    field: (index: number) => `agentTools[${index}]`,
    says: (index: number, text: string) =>
      `agentTools[${index}] ${formatValue(text)} is not one of ${agentToolGroups.join(", ")}`,
    help: "Name the groups that the key needs, or leave the list empty.",
  },
  ACCESS_CLASS_INVALID: {
    code: "invalid_argument",
    field: (index: number) => `accessClasses[${index}]`,
    says: (index: number, text: string) => `accessClasses[${index}] ${formatValue(text)} is not a class`,
    help: "Send read, write or destructive, or leave the list empty.",
  },
  TOOLKIT_SLUGS_INVALID: {
    code: "invalid_argument",
    field: "toolkitSlugs",
    says: (what: string) => `toolkitSlugs ${what}`,
    help: "Send up to 100 slugs of toolkits, or leave the list empty.",
  },
  ACTOR_INVALID: {
    code: "invalid_argument",
    field: "actor",
    says: (actor: string) =>
      `actor ${formatValue(actor)} is not admin, link or service, and not the id of a key, a job or a person`,
    help: text`Send the actor as ${call("ListAuditEvents")} returned it.`,
  },
  STORE_NOT_HELD: {
    code: "failed_precondition",
    says: "the service does not wait for a resume: its database was never restored from a backup, or was resumed already",
    help: text`${call("GetRestore")} shows when it was restored and resumed.`,
  },
  DEPLOYMENT_SECRET_UNKNOWN: {
    code: "invalid_argument",
    field: "name",
    says: (name: string) => `name ${formatValue(name)} is not the name of a deployment secret`,
    help: `Send one of ${deploymentSecretNames.join(", ")}.`,
  },
  DEPLOYMENT_SECRET_INVALID: {
    code: "invalid_argument",
    field: "value",
    says: "value has less than 8 or more than 8,192 characters, or characters that are not visible ASCII",
    help: "Send the text that the header carries, without spaces and line ends.",
  },
  DEPLOYMENT_SECRET_NOT_FOUND: {
    code: "not_found",
    field: "name",
    says: (name: string) => `the deployment has no secret ${formatValue(name)}`,
    help: text`${call("ListDeploymentSecrets")} returns the secrets that it has.`,
  },
  VAULT_KEY_UNCHANGED: {
    code: "failed_precondition",
    says: (keyId: string) => `the first key of SVC_VAULT_KEY, ${formatValue(keyId)}, is already in use`,
    help: text`Put a new key before it in SVC_VAULT_KEY of every node. Restart the nodes one after the other, then call ${call("RotateVault")}.`,
  },
  VAULT_KEY_RETIRED: {
    code: "failed_precondition",
    says: (keyId: string) =>
      `the first key of SVC_VAULT_KEY, ${formatValue(keyId)}, was replaced by an earlier rotation`,
    help: "Make a new key; svc never uses a replaced key again.",
  },
  VAULT_KEY_MISSING: {
    code: "failed_precondition",
    says: (keyId: string, nodeIds: readonly string[]) =>
      `vault key ${formatValue(keyId)} is not among the keys of ${nodeIds.slice(0, 10).join(", ")}`,
    help: "Put it into SVC_VAULT_KEY of every node and restart those nodes; svc forgets a stopped node after a minute.",
  },
});

function nameFault(name: string, charactersMax: number): string {
  if (name.trim() === "") return "is empty";
  if ([...name].length > charactersMax) return `is longer than ${charactersMax} characters`;
  return "has a control or format character (Unicode Cc, Cf)";
}
