"""What wrong input is answered."""
