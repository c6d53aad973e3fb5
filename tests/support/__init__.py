"""What several tests use. No test imports another one."""
