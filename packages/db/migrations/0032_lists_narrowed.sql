DROP INDEX "quarantined_posts_toolkit";--> statement-breakpoint
DROP INDEX "standing_programs_project";--> statement-breakpoint
DROP INDEX "jobs_skill";--> statement-breakpoint
DROP INDEX "jobs_standing";--> statement-breakpoint
DROP INDEX "jobs_rehearsals";--> statement-breakpoint
DROP INDEX "jobs_children";--> statement-breakpoint
DROP INDEX "quarantined_posts_held";--> statement-breakpoint
CREATE INDEX "quarantined_posts_held_toolkit" ON "quarantined_posts" USING btree ("toolkit_slug","reason","id") WHERE released_at is null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_released" ON "quarantined_posts" USING btree ("reason","id") WHERE released_at is not null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_released_toolkit" ON "quarantined_posts" USING btree ("toolkit_slug","reason","id") WHERE released_at is not null;--> statement-breakpoint
CREATE INDEX "standing_programs_state" ON "standing_programs" USING btree ("state","project_id","source_kind","id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "subscriptions_asks" ON "subscriptions" USING btree ("project_id","id") WHERE kind = 'asks';--> statement-breakpoint
CREATE INDEX "jobs_skill" ON "jobs" USING btree ("project_id","skill_slug","mode","status","id") WHERE skill_slug <> '';--> statement-breakpoint
CREATE INDEX "jobs_standing" ON "jobs" USING btree ("project_id","standing_program_id","mode","status","id") WHERE standing_program_id <> '';--> statement-breakpoint
CREATE INDEX "jobs_rehearsals" ON "jobs" USING btree ("project_id","status","id") WHERE mode = 'rehearse';--> statement-breakpoint
CREATE INDEX "jobs_children" ON "jobs" USING btree ("status","project_id","parent_job_id","id") WHERE parent_job_id is not null;--> statement-breakpoint
CREATE INDEX "quarantined_posts_held" ON "quarantined_posts" USING btree ("reason","id") WHERE released_at is null;