ALTER TABLE "jobs" ADD COLUMN "parent_job_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "child_key" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "child" jsonb;--> statement-breakpoint
CREATE INDEX "jobs_children" ON "jobs" USING btree ("project_id","parent_job_id","id") WHERE parent_job_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_child_key" ON "jobs" USING btree ("parent_job_id","child_key") WHERE parent_job_id is not null;