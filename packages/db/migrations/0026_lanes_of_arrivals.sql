CREATE INDEX "standing_backfills_unreached" ON "standing_backfills" USING btree ("project_id","position_event_id") WHERE ended_at is null and position_event_id is not null;--> statement-breakpoint
ALTER TABLE "standing_arrivals" DROP CONSTRAINT "standing_arrivals_key";
--> statement-breakpoint
ALTER TABLE "standing_arrivals" ADD CONSTRAINT "standing_arrivals_key" PRIMARY KEY("project_id","due_at","event_id");