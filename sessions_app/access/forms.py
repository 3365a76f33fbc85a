"""What is typed at the door."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError


class SignInForm(AuthenticationForm):
    """User name and password; one sentence for whatever is wrong with them, so that nobody learns which names exist."""

    error_css_class = "error"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].error_messages["required"] = "Enter your user name."
        self.fields["password"].error_messages["required"] = "Enter your password."

    def get_invalid_login_error(self) -> ValidationError:
        return ValidationError({"password": "This user name and password do not fit together."})
