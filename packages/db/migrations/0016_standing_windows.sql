CREATE TABLE "standing_dedupe" (
	"program_id" uuid NOT NULL,
	"key" text NOT NULL,
	"until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "standing_dedupe_key" PRIMARY KEY("program_id","key")
);
--> statement-breakpoint
CREATE TABLE "standing_run_events" (
	"event_id" uuid NOT NULL,
	"program_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "standing_run_events_key" PRIMARY KEY("event_id","program_id")
);
--> statement-breakpoint
CREATE INDEX "standing_dedupe_until" ON "standing_dedupe" USING btree ("until");--> statement-breakpoint
CREATE INDEX "standing_run_events_run" ON "standing_run_events" USING btree ("run_id","event_id");--> statement-breakpoint
CREATE UNIQUE INDEX "standing_runs_window" ON "standing_runs" USING btree ("program_id","lane") WHERE state = 'collecting';--> statement-breakpoint
CREATE INDEX "standing_runs_closing" ON "standing_runs" USING btree ("program_id","not_before") WHERE state in ('collecting', 'closing');