import type { ToolFacts } from "./describe-action.ts";
import { bankLinkRows } from "./rows/bank-link.ts";
import { calendarRows } from "./rows/calendar.ts";
import { dataPipelineRows } from "./rows/data-pipeline.ts";
import { emailMarketingRows } from "./rows/email-marketing.ts";
import { esignatureRows } from "./rows/esignature.ts";
import { incidentMgmtRows } from "./rows/incident-mgmt.ts";
import { issueTrackerRows } from "./rows/issue-tracker.ts";
import { messagingBotRows } from "./rows/messaging-bot.ts";
import { notesWikiRows } from "./rows/notes-wiki.ts";
import { paymentsCheckoutRows } from "./rows/payments-checkout.ts";
import { salesCrmRows } from "./rows/sales-crm.ts";
import { schedulingRows } from "./rows/scheduling.ts";
import { searchEngineRows } from "./rows/search-engine.ts";
import { searchIngestionRows } from "./rows/search-ingestion.ts";
import { vectorDbRows } from "./rows/vector-db.ts";
import { workMgmtRows } from "./rows/work-mgmt.ts";

/**
 * The actions as the specification lists them, by toolkit. Wire names and bounds that the specification leaves open are those of the app.
 */
export const rowsByToolkit: Readonly<Record<string, readonly ToolFacts[]>> = {
  bank_link: bankLinkRows,
  calendar: calendarRows,
  data_pipeline: dataPipelineRows,
  email_marketing: emailMarketingRows,
  esignature: esignatureRows,
  incident_mgmt: incidentMgmtRows,
  issue_tracker: issueTrackerRows,
  messaging_bot: messagingBotRows,
  notes_wiki: notesWikiRows,
  payments_checkout: paymentsCheckoutRows,
  sales_crm: salesCrmRows,
  scheduling: schedulingRows,
  search_engine: searchEngineRows,
  search_ingestion: searchIngestionRows,
  vector_db: vectorDbRows,
  work_mgmt: workMgmtRows,
};
