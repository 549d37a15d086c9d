export { type ContactsContext, createContactsService } from "./contacts/service.ts";
export type { AskContext } from "./context.ts";
export { decisionMessage, pendingAskMessage } from "./convert.ts";
export { jobNotFound } from "./errors.ts";
export { type AskHandlers, createAskHandlers } from "./handlers.ts";
export type { AskObservation, AskObserver } from "./observer.ts";
export { askPort } from "./port.ts";
export { type AskServiceContext, askMethods } from "./service.ts";
export type { AnsweredAsk, AskInput, AskPort, AskView, PreparedAsk } from "./types.ts";
