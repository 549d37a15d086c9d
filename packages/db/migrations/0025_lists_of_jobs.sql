DROP INDEX "jobs_project";--> statement-breakpoint
DROP INDEX "jobs_status";--> statement-breakpoint
DROP INDEX "jobs_simulations";--> statement-breakpoint
CREATE INDEX "jobs_other_status" ON "jobs" USING btree ("project_id","status","id") WHERE mode <> 'live' or parent_job_id is not null;--> statement-breakpoint
CREATE INDEX "jobs_twins" ON "jobs" USING btree ("project_id","status","id") WHERE simulated_from is not null;--> statement-breakpoint
CREATE INDEX "jobs_status" ON "jobs" USING btree ("project_id","status","id") WHERE mode = 'live' and parent_job_id is null;--> statement-breakpoint
CREATE INDEX "jobs_simulations" ON "jobs" USING btree ("project_id","status","id") WHERE mode = 'simulate' and parent_job_id is null and simulated_from is null;