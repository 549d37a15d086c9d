ALTER TABLE "projects" ADD COLUMN "hold" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "moved_to" text DEFAULT '' NOT NULL;