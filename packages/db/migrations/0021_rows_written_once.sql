CREATE TABLE "ledger_state" (
	"id" smallint PRIMARY KEY NOT NULL,
	"settled_before" uuid NOT NULL
);
--> statement-breakpoint
-- From the first call that runs on, or from the last one of all.
INSERT INTO "ledger_state" ("id", "settled_before") SELECT 1, coalesce(
	(SELECT "id" FROM "tool_calls" WHERE outcome = 'running' ORDER BY "id" LIMIT 1),
	(SELECT "id" FROM "tool_calls" ORDER BY "id" DESC LIMIT 1),
	'00000000-0000-0000-0000-000000000000');--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "failure" text;--> statement-breakpoint
-- Few calls go wrong, and the index that goes away names them.
UPDATE "tool_calls" SET "failure" = "outcome" WHERE outcome <> 'ok' and outcome <> 'running';--> statement-breakpoint
DROP INDEX "tool_calls_outcome";--> statement-breakpoint
DROP INDEX "tool_calls_running";--> statement-breakpoint
CREATE INDEX "tool_calls_failure" ON "tool_calls" USING btree ("project_id","failure","id") WHERE failure is not null;--> statement-breakpoint
ALTER TABLE "job_events" ADD COLUMN "following" jsonb;--> statement-breakpoint
-- Each row is stored once and changed once soon after. Where its page has room for that, the log holds what has changed, no lock of
-- the old place, and of calls and steps no new index entries.
ALTER TABLE "jobs" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "job_steps" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "tool_calls" SET (fillfactor = 50);
