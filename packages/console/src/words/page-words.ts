import { type PartedText, renderText } from "@svc/core/fault-text";

/**
 * The page of the console that does the same as a call of the API, by the name of the call. A call that is missing here has no page; texts
 * then keep its name.
 */
const places: Readonly<Record<string, readonly string[]>> = {
  "the page Tools": ["ListTools", "SearchTools", "DescribeTool", "GetToolkitConnectSpec"],
  "the page Apps": ["ListToolkits"],
  "“Add an app” on the page Apps": ["ImportToolkit"],
  "“Changes” on the page of the toolkit": ["GetToolkitSource", "RefreshToolkit", "AcceptToolkitChanges"],
  "the page Accounts": ["ListConnections", "GetConnection", "TestConnection"],
  "“Connect an account” on the page Accounts": ["InitiateConnection"],
  "“Project credential” on the page Accounts": ["SetProjectCredential"],
  "the page Calls": ["ListToolCalls", "GetToolCall"],
  "the page People": ["ListContacts", "PutContact"],
  "“Question endpoints” on the page People": ["ListAskEndpoints"],
  "the page Approvals": ["ListAsks", "GetAsk", "AnswerAsk"],
  "the page Jobs": [
    ...["ListJobs", "GetJob", "WatchJob", "ListJobEvents", "ListSteps", "GetStep", "CancelJob", "PromoteJob"],
    ...["ListUndoEntries", "BulkJobs"],
  ],
  "“New program” on the page Jobs": ["SubmitJob", "CheckProgram"],
  "“Graph” on the page of the job": ["DescribeProgram"],
  "the page Saved tools": ["ListSkills", "GetSkill", "DeleteSkill"],
  "the page Schedules": [
    ...["ListStandingPrograms", "GetStandingProgram", "UpdateStandingProgram", "ResumeStandingProgram"],
    ...["ListStandingRuns"],
  ],
  "the page Events": ["ListEvents", "GetEvent"],
  "the page Event types": ["ListEventTypes", "GetEventType", "GetEventDocument"],
  "“New event type” on the page Event types": ["PutEventType"],
  "the page Deliveries": ["ListDeliveries", "GetDelivery", "ListDeliveryAttempts", "TryNow"],
  "the page Subscriptions": ["ListSubscriptions", "UpdateSubscription", "RotateSubscriptionSecret"],
  "the page Resends": ["ListReplays", "GetReplay", "CancelReplay"],
  "the page Incoming webhooks": ["ListIngestEndpoints", "PutWebhookSecret", "DeleteWebhookSecret"],
  "“Secrets” in the settings": ["ListSecrets", "PutSecret"],
  "“Call limits” in the settings": ["ListCallLimits", "PutCallLimit"],
  "“Portal” in the settings": [
    ...["ListPortalLinks", "CreatePortalLink", "RevokePortalLinks", "GetEventSettings", "PutEventSettings"],
  ],
  "“Agents” in the settings": ["ListGrants", "CreateAgentKey", "ListAgentKeys", "RevokeAgentKey"],
  "“You” in the settings": ["ListSessions"],
  "“Projects” in the administration": ["ListProjects"],
  "“Keys” of the project in the administration": ["ListApiKeys", "CreateApiKey"],
  "“Company accounts” of the project in the administration": ["ListPeople", "CreateInvitation", "RemovePerson"],
  "“Policy” of the project in the administration": ["SetProjectPolicy"],
  "the page Quarantine": ["ListQuarantinedPosts", "GetQuarantinedPost", "ReleaseQuarantinedPosts"],
  "the audit log in the administration": ["ListAuditEvents"],
};

const placeOf = new Map(Object.entries(places).flatMap(([place, calls]) => calls.map((call) => [call, place])));
const callName = /\b(?:[A-Z][a-z]+){2,}\b/g;

/**
 * Returns the text of an error for the console. Names of API calls are replaced by names of console pages. For example, `Tools` replaces
 * `ListTools`.
 */
export function pageText(said: PartedText): string {
  return renderText(said, (_kind, named) => {
    const [name = "", ...how] = named.split(" ");
    return [placeOf.get(name) ?? name, ...how].join(" ");
  });
}

/** Returns a text in which the names of API calls are replaced by the names of console pages. */
export function pageWords(text: string): string {
  return text.replace(callName, (name) => placeOf.get(name) ?? name);
}
