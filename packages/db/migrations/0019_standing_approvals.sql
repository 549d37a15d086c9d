ALTER TABLE "standing_programs" ADD COLUMN "pending_version" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_versions" ADD COLUMN "approval" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_versions" ADD COLUMN "approval_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_versions" ADD COLUMN "granted_version" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_versions" ADD COLUMN "rehearsal_job_id" uuid;--> statement-breakpoint
ALTER TABLE "standing_versions" ADD COLUMN "plan_hash" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_versions" ADD COLUMN "note" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "jobs_rehearsals" ON "jobs" USING btree ("project_id","id") WHERE mode = 'rehearse';